import { MeshError } from '@git-mesh/core';
import type { Connection } from '@git-mesh/core';
import type { OpenMesh } from '@git-mesh/sync';
import { LiveFeed } from './live-feed.js';
import { liveView } from './live-view.js';
import { uiFiles } from './ui-files.js';
import { startUiServer } from './ui-server.js';

export interface ServeUiOptions {
  mesh: OpenMesh;
  connection: Connection;
  /** 0 for a free one. */
  port: number;
  /** Ends it. */
  stop: AbortSignal;
  /** Milliseconds since 1970. */
  now: () => number;
  onReady: (url: string) => Promise<void>;
}

/** Serves the live page until it is stopped, and does the synchronising where no worker runs. */
export async function serveUi({ mesh, connection, port, stop, now, onReady }: ServeUiOptions): Promise<void> {
  if (port < 0 || port > 65_535) {
    throw new MeshError('invalid_argument', `--port is 0 (any free one) to 65535, not ${port}`);
  }
  const { mesh: named, machine } = await mesh.api.status();
  const files = await uiFiles({ mesh: named.name, machine });
  let fail: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    fail = reject;
    if (stop.aborted) resolve();
    stop.addEventListener('abort', () => {
      resolve();
    });
  });
  const read = () => liveView(mesh, connection, now());
  const feed = new LiveFeed({ read, onBug: (error) => { fail(error); } }); // prettier-ignore
  const server = await startUiServer({ port, files, feed });
  const watch = mesh.onChange(() => {
    feed.changed();
  });
  try {
    mesh.startWorker();
    await onReady(server.url);
    await ended;
  } finally {
    watch.close();
    feed.close();
    await server.close();
  }
}
