/** What the written page and the live one show of the log; `assets/audit-page.js` fills it. */
export const timelineParts = `<form id="filters">
<label>Search<input name="text" type="search" autocomplete="off"></label>
<button type="button" id="more" aria-controls="filters" aria-expanded="false">More filters</button>
<label>Message<input name="message" type="search" autocomplete="off" placeholder="number or id"></label>
<label>Agent<select name="agent"><option value="">all</option></select></label>
<label>Machine<select name="machine"><option value="">all</option></select></label>
<label>Repository<select name="repo"><option value="">all</option></select></label>
<label>Event<select name="event"><option value="">all</option></select></label>
<label>Type<select name="type"><option value="">all</option></select></label>
<label>Since (UTC)<input name="since" type="datetime-local" step="1"></label>
<label>Until (UTC)<input name="until" type="datetime-local" step="1"></label>
<label class="tick"><input name="unacked" type="checkbox">No acknowledgement below</label>
</form>
<figure>
<canvas id="timeline" role="img" aria-label="A lane for each machine, its events by time, lines from messages to their acknowledgements"></canvas>
<figcaption><span class="key send">message</span><span class="key ack">acknowledged</span><span class="key end">ended</span><span class="key freeze">freeze</span></figcaption>
</figure>
<div id="detail" hidden></div>
<div id="list" tabindex="0" aria-label="Events, newest first"></div>`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** `text` as it may stand in an element or a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => entities[c] ?? c);
