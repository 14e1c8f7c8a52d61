/** A push of so many commits (each some seven objects) still fits well into memory. */
const most = 1_000;
const quickMs = 1_500;
const slowMs = 5_000;

/** How many commits one push takes along: more while the remote is quick, fewer after a push that was cut. */
export class PushPace {
  #commits: number;

  constructor(first: number) {
    this.#commits = first;
  }

  get commits(): number {
    return this.#commits;
  }

  took(ms: number): void {
    if (ms < quickMs) this.#commits = Math.min(most, this.#commits * 4);
    else if (ms > slowMs) this.cut();
  }

  cut(): void {
    this.#commits = Math.max(1, Math.floor(this.#commits / 2));
  }
}
