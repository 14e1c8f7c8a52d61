/** At most so many a minute, evenly refilled; what is beyond is counted. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;
  #leftOut = 0;

  /** `now` in milliseconds. */
  constructor({ perMinute, now }: { perMinute: number; now: () => number }) {
    this.#perMinute = perMinute;
    this.#now = now;
    this.#tokens = perMinute;
    this.#at = now();
  }

  /** Null where it is one too many; else how many were left out since the last that was not. */
  take(): { leftOut: number } | null {
    const now = this.#now();
    // A clock that is set back refills nothing.
    this.#tokens = Math.min(this.#perMinute, this.#tokens + (Math.max(0, now - this.#at) / 60_000) * this.#perMinute);
    this.#at = now;
    if (this.#tokens < 1) {
      this.#leftOut += 1;
      return null;
    }
    this.#tokens -= 1;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return { leftOut };
  }
}
