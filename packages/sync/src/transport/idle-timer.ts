import { MeshError } from '@git-mesh/core';

/** Gives up on a server that shows no sign of life, and says in which step that was. */
export class IdleTimer {
  readonly #limitMs: number;
  readonly #where: string;
  readonly #giveUp: (error: MeshError) => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #step = 'starting';

  constructor(limitMs: number, where: string, giveUp: (error: MeshError) => void) {
    this.#limitMs = limitMs;
    this.#where = where;
    this.#giveUp = giveUp;
  }

  /** As in "connecting" or "sending its answer". */
  get step(): string {
    return this.#step;
  }

  /** A sign of life, or a new step: the time begins anew. Does nothing after {@link stop}. */
  begin(step: string): void {
    if (this.#stopped) return;
    this.#step = step;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#giveUp(
        new MeshError(
          'deadline',
          `${this.#where} was quiet for ${Math.ceil(this.#limitMs / 1000)} s while ${this.#step}, and was given up`,
        ),
      );
    }, this.#limitMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** For good. */
  stop(): void {
    this.#stopped = true;
    this.end();
  }
}
