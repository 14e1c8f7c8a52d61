// The live page's own script: shows what the server tells as it happens. Text is only ever set as text.
(() => {
  const place = (id) => document.getElementById(id);
  let state = null;
  let heardAt = null;
  let trouble = '';

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  };
  const clock = (time) => new Date(time).toISOString().slice(11, 19) + 'Z';
  const who = (agent, machine) => (agent === null ? machine : `${agent}@${machine}`);

  function age(since) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(since)) / 1000));
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
    if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86_400)} days`;
  }

  function table(id, heads, rows, none) {
    const head = element('tr');
    head.append(...heads.map((each) => element('th', each)));
    const lines = rows.map(({ cells, isGone }) => {
      const row = element('tr', undefined, isGone ? 'gone' : undefined);
      row.append(...cells.map((each) => element('td', each)));
      return row;
    });
    place(id).replaceChildren(...(rows.length === 0 ? [element('caption', none, 'empty')] : [head, ...lines]));
  }

  // Lives end by the clock, without a word from the server.
  const lasts = ({ expires_at: end }) => Date.parse(end) > Date.now();

  function drawAgents() {
    const rows = state.agents.map((agent) => {
      const here = agent.alive && lasts(agent);
      const since = agent.status_since === null ? '' : age(agent.status_since);
      const seen = here
        ? `active ${age(agent.last_activity_at)} ago`
        : `gone, last active ${age(agent.last_activity_at)} ago`;
      return {
        cells: [
          who(agent.agent_id, agent.machine),
          agent.role ?? '',
          agent.repo ?? '',
          agent.status ?? '',
          since,
          seen,
        ],
        isGone: !here,
      };
    });
    if (state.more_agents > 0) rows.push({ cells: [`and ${state.more_agents} more`], isGone: true });
    table('agents', ['Agent', 'Role', 'Repository', 'Does', 'For', 'Seen'], rows, 'Nobody has checked in.');
  }

  function drawSent() {
    const rows = state.sent.map((message) => ({
      cells: [
        `#${message.message_id}`,
        message.to_agent === null ? message.to : who(message.to_agent, message.to),
        message.msg_type,
        message.text,
        message.state,
        message.acks.length > 0
          ? `by ${message.acks.map(({ agent, machine }) => who(agent, machine)).join(', ')}`
          : message.delivered_to.map(({ machine }) => machine).join(', '),
        `${age(message.sent_at)} ago`,
      ],
      isGone: message.state === 'expired',
    }));
    table('sent', ['', 'To', 'Type', 'Says', 'State', 'Where', 'When'], rows, 'Nothing was sent from here.');
  }

  function drawAlarms() {
    const freezes = state.freezes.filter(lasts).map((freeze) => {
      const of = freeze.repo === null ? 'all repositories' : freeze.repo;
      const why = freeze.reason === null ? '' : `: ${freeze.reason}`;
      const by = who(freeze.agent, freeze.machine);
      return `Freeze of ${of}${why} (by ${by} for ${age(freeze.since)}, until ${freeze.expires_at.slice(0, 16).replace('T', ' ')}Z at the latest)`;
    });
    const told = [
      ...freezes,
      ...state.problems,
      ...(trouble === '' ? [] : [`The store could not be read: ${trouble}`]),
    ];
    place('alarms').replaceChildren(...told.map((each) => element('li', each)));
  }

  function drawSync() {
    const { state: how, last_ok_at: lastOk, queued, error } = state.sync;
    const words = { ok: 'Synchronised', partial: 'Some remotes do not answer', offline: 'Offline', none: 'No remote' };
    const parts = [words[how] ?? how];
    if (lastOk !== null) parts.push(`last exchange ${age(lastOk)} ago`);
    if (queued > 0) parts.push(`${queued} to push`);
    if (error !== null) parts.push(error.message);
    place('sync').textContent = parts.join(', ');
  }

  function draw() {
    if (state === null) return;
    drawAgents();
    drawSent();
    drawAlarms();
    drawSync();
  }

  // How the server that this page came from can be lost: in all of them but the last, it is asked again.
  const losses = {
    silent: 'git mesh ui does not answer. If it was started anew, open the address that it printed then.',
    full: 'too many of its pages are open: close one.',
    ended:
      'the git mesh ui that this page came from has ended, and this address with it. ' +
      'Open the address that git mesh ui printed when it was last started.',
  };

  function connected(loss) {
    const since = heardAt === null ? 'Nothing was heard yet.' : `What is below is of ${clock(heardAt)}.`;
    place('link').textContent = loss === undefined ? 'Live' : `Connection lost: ${losses[loss]} ${since}`;
    place('link').className = loss === undefined ? 'facts' : 'facts lost';
  }

  // A browser asks again by itself where nothing answered, but never where it was refused.
  const longestWaitMs = 30_000;
  let waitMs = 1000;

  async function refusal() {
    const stop = new AbortController();
    try {
      const { status } = await fetch('events', { signal: stop.signal, cache: 'no-store' });
      if (status === 200) return 'silent';
      return status === 503 ? 'full' : 'ended';
    } catch {
      return 'silent';
    } finally {
      stop.abort();
    }
  }

  async function refused() {
    const why = await refusal();
    connected(why);
    // The token of an ended server never comes back.
    if (why === 'ended') return;
    setTimeout(listen, waitMs);
    waitMs = Math.min(2 * waitMs, longestWaitMs);
  }

  function listen() {
    const source = new EventSource('events');
    const hear = (name, take) =>
      source.addEventListener(name, ({ data }) => {
        heardAt = Date.now();
        take(JSON.parse(data));
        draw();
      });
    hear('state', (given) => (state = given));
    hear('trouble', (given) => (trouble = given));
    hear('audit', (given) => {
      // What is in force goes on until now.
      const detail = { ...given, to: Math.max(given.to, Date.now()) };
      document.dispatchEvent(new CustomEvent('audit-data', { detail }));
    });
    source.addEventListener('open', () => {
      waitMs = 1000;
      connected();
    });
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) void refused();
      else connected('silent');
    });
  }
  listen();
  // Ages grow while nothing happens.
  setInterval(draw, 1000);
})();
