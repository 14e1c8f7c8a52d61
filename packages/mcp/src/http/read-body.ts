import type { IncomingMessage } from 'node:http';

/** A payload is 16 KiB at most; the rest is what surrounds it. */
export const maxBodyBytes: number = 1 << 20;

export type Body = { text: string } | { problem: 'too long' | 'not UTF-8' | 'cut' };

/** The whole body of a request as text; what is too long is not kept. Never rejects. */
export async function readBody(request: IncomingMessage): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return { problem: 'too long' };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return { problem: 'too long' };
      chunks.push(chunk);
    }
  } catch {
    // The client went away: whoever answers finds nobody.
    return { problem: 'cut' };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { problem: 'not UTF-8' };
  }
}
