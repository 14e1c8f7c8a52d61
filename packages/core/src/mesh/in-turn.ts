/**
 * One act after the other, in the order in which they were asked for: each finds what those before it did, whatever they
 * do outside of the store lock. Another process is another matter: what an act decides, it decides under the lock.
 */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(act);
    // The next one begins whatever became of this one, whose failure is its caller's.
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
