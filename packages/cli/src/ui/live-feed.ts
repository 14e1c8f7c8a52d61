import type { ServerResponse } from 'node:http';
import { MeshError, systemFailure } from '@git-mesh/core';
import type { LiveView } from './live-view.js';

/** Pages that are open at once. */
const maxReaders = 16;
/** A reader that takes nothing is dropped once this much waits for it; it asks again by itself. */
const maxWaitingBytes = 4 * 1024 * 1024;

export interface LiveFeedOptions {
  read: () => Promise<LiveView>;
  /** What no reader can be told: a bug. */
  onBug: (error: unknown) => void;
}

/**
 * Sends every open page what it has not got yet, as server-sent events `state`, `audit` and `trouble` (a text), each one
 * JSON document. One look at the mesh at a time, however many changes and pages there are, and none without a page.
 */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  /** With what each was sent last, by event. */
  readonly #readers = new Map<ServerResponse, Map<string, string>>();
  #looking = false;
  #again = false;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#readers.size >= maxReaders;
  }

  /** The head of `response` is written; it stays open until the reader goes or the feed is closed. */
  add(response: ServerResponse): void {
    this.#readers.set(response, new Map());
    const gone = (): void => void this.#readers.delete(response);
    response.on('close', gone).on('error', gone);
    response.write('retry: 1000\n\n');
    this.changed();
  }

  /** Something may have changed. */
  changed(): void {
    this.#again = true;
    if (this.#looking) return;
    this.#look().catch(this.#options.onBug);
  }

  close(): void {
    for (const response of this.#readers.keys()) response.end();
    this.#readers.clear();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    // A change or a page that comes during a look is of the next one.
    while (this.#again && this.#readers.size > 0) {
      this.#again = false;
      try {
        const { state, audit } = await this.#options.read();
        this.#tell('trouble', '');
        this.#tell('state', state);
        this.#tell('audit', audit);
      } catch (error) {
        const told = systemFailure(error) ?? error;
        if (!(told instanceof MeshError)) throw error;
        this.#tell('trouble', told.message);
      }
    }
    this.#looking = false;
  }

  #tell(event: string, value: unknown): void {
    const data = JSON.stringify(value);
    for (const [response, last] of this.#readers) {
      if ((last.get(event) ?? '""') === data) continue;
      last.set(event, data);
      response.write(`event: ${event}\ndata: ${data}\n\n`);
      if (response.writableLength > maxWaitingBytes) response.destroy();
    }
  }
}
