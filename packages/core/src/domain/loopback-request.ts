export interface LoopbackRule {
  /** The port that is served on the loopback interface. */
  port: number;
  /** Whose pages may ask: those that were served here alone, or those of any server on this machine. */
  pages: 'own' | 'loopback';
  /** The request is for a page that a person may open from a link on another one. */
  isPage?: boolean;
}

const loopback = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Why a request over HTTP comes from elsewhere, though it reached this machine's loopback interface; null for one from
 * here. A web page that has its own name resolved to this machine is told by Host, one that asks by Origin, and one that
 * has the browser ask (an image, a frame, a script) by Sec-Fetch-Site. What is no browser sends the first alone.
 * `headers` are a request's, by their names in lower case.
 */
export function foreignRequest(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  { port, pages, isPage = false }: LoopbackRule,
): string | null {
  const named = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value?.toLowerCase();
  };
  const host = named('host') ?? '';
  if (!loopback.some((name) => host === `${name}:${port}` || (port === 80 && host === name))) {
    return `the Host header must name this machine and port, such as 127.0.0.1:${port}`;
  }
  const origin = named('origin');
  if (origin !== undefined && (pages === 'own' ? origin !== `http://${host}` : !isLoopbackOrigin(origin))) {
    return 'pages of other origins may not ask';
  }
  // A page of another server here is another site, but was allowed by its origin.
  if (origin !== undefined && pages === 'loopback') return null;
  const site = named('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') return null;
  if (isPage && named('sec-fetch-mode') === 'navigate' && named('sec-fetch-dest') === 'document') return null;
  return 'pages of other sites may not ask';
}

function isLoopbackOrigin(origin: string): boolean {
  const [, name] = /^https?:\/\/([^/:[\]]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(origin) ?? [];
  return name !== undefined && loopback.includes(name);
}
