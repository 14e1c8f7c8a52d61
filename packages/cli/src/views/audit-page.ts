import type { AuditPageResult } from '../audit-page/write-page.js';
import { counted } from '../counted.js';
import type { Render } from '../view.js';

export const auditPageView: Render<AuditPageResult> = ({ file, events }, { visible }) => ({
  text: `Wrote ${counted(events, 'event', 'events')} to ${visible(file, 1000)}: open it in a browser.`,
  kind: 'confirmation',
});
