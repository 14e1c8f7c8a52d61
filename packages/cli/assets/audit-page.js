// The page's own script: reads the events that the page carries, and draws them. Text is only ever set as text.
(() => {
  const narrow = window.matchMedia('(max-width: 44rem)');
  const rowHeightNow = () => (narrow.matches ? 54 : 34);
  const laneHeight = 34;
  const top = 22;
  let data;
  let events;
  let machines;
  let byMessage;
  let shown;
  let chosen = null;

  function take(given) {
    data = given;
    events = data.events.map((event) => ({ ...event, time: Date.parse(event.at) }));
    machines = [...new Set(events.map(({ machine }) => machine))].sort();
    byMessage = new Map();
    for (const event of events) {
      for (const id of event.ids ?? []) {
        const about = byMessage.get(id);
        if (about === undefined) byMessage.set(id, [event]);
        else about.push(event);
      }
    }
    chosen = chosen === null ? null : (events.find(({ commit }) => commit === chosen.commit) ?? null);
    if (chosen === null) detail.hidden = true;
    for (const name of ['agent', 'machine', 'repo', 'event', 'type']) offer(form.elements[name], name);
  }

  /** What is chosen stays chosen, also where nothing has it any more. */
  function offer(select, name) {
    const { value } = select;
    const values = new Set(events.map((event) => event[name] ?? ''));
    values.add(value).delete('');
    const kept = [...select.options].slice(1).map((option) => option.value);
    const sorted = [...values].sort();
    // A list that is open closes when its options are replaced.
    if (kept.join('\n') === sorted.join('\n')) return;
    select.replaceChildren(select.options[0], ...sorted.map((each) => new Option(each, each)));
    select.value = value;
  }

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  };
  const list = document.getElementById('list');
  const canvas = document.getElementById('timeline');
  const detail = document.getElementById('detail');
  const form = document.getElementById('filters');
  const whoOf = ({ agent, machine }) => (agent === null ? machine : `${agent}@${machine}`);
  const timeOf = ({ at }) => at.replace('T', ' ').replace(/\.\d+Z$/, 'Z');

  function colourOf({ event, type }) {
    const styles = getComputedStyle(document.documentElement);
    const named = (name) => styles.getPropertyValue(name).trim();
    if (event === 'send' && type === 'freeze') return named('--freeze');
    if (event === 'send') return named('--send');
    if (event === 'ack' || event === 'receipt') return named('--ack');
    if (event === 'expire' || event === 'unsend' || event === 'prune') return named('--end');
    return named('--other');
  }

  function rowOf(event) {
    const row = element('div', undefined, event === chosen ? 'row chosen' : 'row');
    row.append(element('time', timeOf(event)), element('span', whoOf(event), 'who'));
    row.append(element('span', event.subject, 'what'));
    row.append(
      event.signature === 'good'
        ? element('span', event.message_id === undefined ? '' : `#${event.message_id}`, 'note')
        : element('span', event.signature === 'bad' ? 'bad signature' : 'not signed', 'bad'),
    );
    row.addEventListener('click', () => choose(event));
    return row;
  }

  /** Only the rows in sight are made: ten thousand at once would take seconds. */
  function drawList(all = false) {
    const rowHeight = rowHeightNow();
    const space = element('div');
    space.style.height = all ? 'auto' : `${shown.length * rowHeight}px`;
    const first = all ? 0 : Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5);
    const last = all ? shown.length : Math.min(shown.length, first + Math.ceil(list.clientHeight / rowHeight) + 10);
    for (let at = first; at < last; at++) {
      const row = rowOf(shown[at]);
      if (!all) row.style.top = `${at * rowHeight}px`;
      space.append(row);
    }
    if (shown.length === 0) space.append(element('p', 'Nothing matches.', 'empty'));
    list.replaceChildren(space);
  }

  function drawTimeline() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(canvas.parentElement.clientWidth, 280);
    const height = top + machines.length * laneHeight + 8;
    canvas.style.height = `${height}px`;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const draw = canvas.getContext('2d');
    draw.scale(ratio, ratio);
    const styles = getComputedStyle(document.documentElement);
    const left = Math.min(140, width * 0.28);
    const [from, to] = [data.from, Math.max(data.to, data.from + 1)];
    const x = (time) => left + ((time - from) / (to - from)) * (width - left - 12);
    const y = (machine) => top + machines.indexOf(machine) * laneHeight + laneHeight / 2;
    draw.font = '12px system-ui, sans-serif';
    draw.textBaseline = 'middle';
    for (const freeze of data.freezes) {
      draw.globalAlpha = 0.16;
      draw.fillStyle = styles.getPropertyValue('--freeze').trim();
      draw.fillRect(x(freeze.from), top, Math.max(2, x(Math.min(freeze.to, to)) - x(freeze.from)), height - top - 8);
      draw.globalAlpha = 1;
    }
    for (const machine of machines) {
      draw.strokeStyle = styles.getPropertyValue('--line').trim();
      draw.beginPath();
      draw.moveTo(left, y(machine));
      draw.lineTo(width - 12, y(machine));
      draw.stroke();
      draw.fillStyle = styles.getPropertyValue('--text').trim();
      draw.fillText(machine, 8, y(machine), left - 16);
    }
    draw.fillStyle = styles.getPropertyValue('--dim').trim();
    draw.fillText(new Date(from).toISOString().slice(0, 16).replace('T', ' '), left, 10);
    draw.textAlign = 'right';
    draw.fillText(new Date(to).toISOString().slice(0, 16).replace('T', ' '), width - 12, 10);
    draw.textAlign = 'left';
    const inSight = new Set(shown);
    // Thousands of lines over one another would hide all else.
    const faint = Math.max(0.03, Math.min(0.35, 80 / shown.length));
    draw.strokeStyle = styles.getPropertyValue('--ack').trim();
    for (const about of byMessage.values()) {
      const sent = about.find(({ event }) => event === 'send');
      if (sent === undefined || !inSight.has(sent)) continue;
      draw.globalAlpha = about.includes(chosen) ? 1 : faint;
      draw.lineWidth = about.includes(chosen) ? 2 : 1;
      for (const ack of about.filter(({ event }) => event === 'ack')) {
        draw.beginPath();
        draw.moveTo(x(sent.time), y(sent.machine));
        draw.lineTo(x(ack.time), y(ack.machine));
        draw.stroke();
      }
    }
    draw.globalAlpha = 1;
    for (const event of shown) {
      draw.fillStyle = colourOf(event);
      draw.beginPath();
      draw.arc(x(event.time), y(event.machine), event === chosen ? 6 : 3, 0, 7);
      draw.fill();
    }
    canvas.onclick = ({ offsetX, offsetY }) => {
      let near = null;
      let best = 144;
      for (const event of shown) {
        const away = (x(event.time) - offsetX) ** 2 + (y(event.machine) - offsetY) ** 2;
        if (away < best) [best, near] = [away, event];
      }
      if (near !== null) choose(near);
    };
  }

  function choose(event) {
    chosen = event;
    detail.replaceChildren(element('strong', event.subject));
    detail.append(element('div', `${timeOf(event)} · ${whoOf(event)} · commit ${event.commit}`));
    const about = new Set((event.ids ?? []).flatMap((id) => byMessage.get(id) ?? []));
    if (about.size > 1) {
      const life = element('ol');
      for (const each of [...about].sort((a, b) => a.time - b.time)) {
        life.append(element('li', `${timeOf(each)} ${whoOf(each)}: ${each.subject}`));
      }
      detail.append(life);
    }
    detail.hidden = false;
    const at = shown.indexOf(event);
    const rowHeight = rowHeightNow();
    if (at >= 0 && (at * rowHeight < list.scrollTop || (at + 1) * rowHeight > list.scrollTop + list.clientHeight)) {
      list.scrollTop = at * rowHeight;
    }
    drawList();
    drawTimeline();
  }

  const hasAck = (event) => (event.ids ?? []).every((id) => byMessage.get(id).some((each) => each.event === 'ack'));

  /** The ULIDs that a number or a ULID stands for: a number is this machine's, and only some events carry it. */
  function idsOf(reference) {
    const number = reference.replace('#', '');
    const numbered = events.filter(({ message_id }) => String(message_id) === number);
    return new Set([reference.toUpperCase(), ...numbered.flatMap(({ id }) => (id === undefined ? [] : [id]))]);
  }

  function filter() {
    const wanted = new FormData(form);
    const given = (name) => String(wanted.get(name) ?? '').trim();
    const text = given('text').toLowerCase();
    const since = given('since') === '' ? -Infinity : Date.parse(`${given('since')}Z`);
    const until = given('until') === '' ? Infinity : Date.parse(`${given('until')}Z`);
    const ids = given('message') === '' ? null : idsOf(given('message'));
    const same = ['agent', 'machine', 'repo', 'event', 'type'].map((name) => [name, String(wanted.get(name))]);
    const found = (event) =>
      [whoOf(event), event.subject, event.commit, event.repo ?? '', ...(event.ids ?? [])].join(' ').toLowerCase();
    shown = events.filter(
      (event) =>
        same.every(([name, value]) => value === '' || event[name] === value) &&
        event.time >= since &&
        event.time <= until &&
        (ids === null || (event.ids ?? []).some((id) => ids.has(id))) &&
        (wanted.get('unacked') === null || (event.event === 'send' && !hasAck(event))) &&
        (text === '' || found(event).includes(text)),
    );
    document.getElementById('count').textContent = `${shown.length} of ${events.length} events`;
    drawList();
    drawTimeline();
  }
  /** On a narrow screen most filters are folded away; those that are set are counted. */
  function tellOfFilters() {
    const set = [...form.elements].filter(
      (each) => each.name !== 'text' && (each.checked || (each.type !== 'checkbox' && each.value)),
    );
    const isWhole = form.classList.contains('whole');
    more.setAttribute('aria-expanded', String(isWhole));
    more.textContent = `${isWhole ? 'Fewer' : 'More'} filters${set.length === 0 ? '' : ` (${set.length} set)`}`;
  }
  const more = document.getElementById('more');
  more.addEventListener('click', () => {
    form.classList.toggle('whole');
    tellOfFilters();
  });
  form.addEventListener('input', tellOfFilters);
  form.addEventListener('input', () => {
    list.scrollTop = 0;
    filter();
  });
  form.addEventListener('submit', (submitted) => submitted.preventDefault());
  list.addEventListener('scroll', () => drawList());
  window.addEventListener('resize', filter);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawTimeline);
  window.addEventListener('beforeprint', () => {
    drawList(true);
    drawTimeline();
  });
  window.addEventListener('afterprint', () => {
    drawList();
    drawTimeline();
  });
  // The live page's: it has the same data again whenever something happened.
  document.addEventListener('audit-data', (given) => {
    take(given.detail);
    filter();
  });
  take(JSON.parse(document.getElementById('data').textContent));
  filter();
})();
