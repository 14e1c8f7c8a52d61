/** Bytes that come in pieces of any size, in one place: a million pieces of one byte cost a megabyte. */
export class ByteBuffer {
  length = 0;
  #bytes: Buffer = Buffer.alloc(0);

  add(piece: Uint8Array): void {
    const needed = this.length + piece.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length, 16_384));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    this.#bytes.set(piece, this.length);
    this.length = needed;
  }

  /** All that was added, as a view that further additions may or may not change. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }
}
