import { asset } from '../audit-page/audit-page.js';
import { escaped, timelineParts } from '../audit-page/page-parts.js';
import type { UiFiles } from './ui-server.js';

/** The live page and what it loads, all from here. */
export async function uiFiles(facts: { mesh: string; machine: string }): Promise<UiFiles> {
  const [auditStyle, liveStyle, auditScript, liveScript] = await Promise.all(
    ['audit-page.css', 'live-page.css', 'audit-page.js', 'live-page.js'].map(asset),
  );
  const script = 'text/javascript; charset=utf-8';
  return new Map([
    ['', { type: 'text/html; charset=utf-8', text: page(facts) }],
    ['page.css', { type: 'text/css; charset=utf-8', text: `${auditStyle ?? ''}\n${liveStyle ?? ''}` }],
    ['audit-page.js', { type: script, text: auditScript ?? '' }],
    ['live-page.js', { type: script, text: liveScript ?? '' }],
  ]);
}

function page({ mesh, machine }: { mesh: string; machine: string }): string {
  const title = escaped(`${mesh}: now, on ${machine}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<title>${title}</title>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="facts" id="link" role="status">Connecting…</p>
<p class="facts" id="sync"></p>
</header>
<main>
<noscript><p class="empty">This page draws what happens with a script of its own. Without one: git mesh agents, git mesh log.</p></noscript>
<ul id="alarms"></ul>
<section><h2>Agents</h2><div class="wide"><table id="agents"></table></div></section>
<section><h2>Sent from here</h2><div class="wide"><table id="sent"></table></div></section>
<section><h2>Log</h2><p class="facts" id="count"></p>
${timelineParts}</section>
</main>
<script type="application/json" id="data">{"from":0,"to":0,"events":[],"freezes":[]}</script>
<script src="audit-page.js"></script>
<script src="live-page.js"></script>
</body>
</html>
`;
}
