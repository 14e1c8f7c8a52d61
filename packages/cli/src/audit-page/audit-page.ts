import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { MeshError } from '@git-mesh/core';
import { plainLine } from '../plain-text.js';
import type { AuditData } from './audit-data.js';
import { escaped, timelineParts } from './page-parts.js';

/** @throws where the package lacks it. */
export const asset = (name: string): Promise<string> =>
  readFile(new URL(`../../assets/${name}`, import.meta.url), 'utf8');

/**
 * The audit log as one page that needs nothing else: no network, no script but its own, whose hash its policy names.
 * What agents wrote stands in it as data, and is shown as text.
 */
export async function auditPage(
  data: AuditData,
  facts: { mesh: string; machine: string; madeAt: string },
): Promise<string> {
  const [script, style] = await Promise.all([asset('audit-page.js'), asset('audit-page.css')]);
  if (/<\/(?:script|style)/i.test(script + style)) {
    throw new MeshError('protocol_error', 'the page’s own script would end early: this build is damaged');
  }
  const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}`;
  const title = escaped(`${facts.mesh}: audit log`);
  const count = `${data.events.length} events`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="facts"><span id="count">${count}</span>, as ${escaped(facts.machine)} knew them at ${escaped(facts.madeAt)}</p>
</header>
<main>
<noscript><p class="empty">This page draws its events with a script of its own. Without one: git mesh log shows them.</p></noscript>
${timelineParts}
</main>
<script type="application/json" id="data">${embedded(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * JSON in which nothing can end its element, begin a comment, or break a line of script, nor act or hide where somebody
 * reads the page's source.
 */
function embedded(data: AuditData): string {
  return plainLine(JSON.stringify(data)).replace(
    /[<>&]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
