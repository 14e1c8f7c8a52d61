/**
 * Preloaded (NODE_OPTIONS=--import) into a process whose clock is to be wrong: Date is MESH_TEST_CLOCK_OFFSET_MS
 * milliseconds off. What is measured in performance.now() and timers goes on as it is.
 */
const offset = Number(process.env.MESH_TEST_CLOCK_OFFSET_MS ?? 0);
if (!Number.isFinite(offset)) throw new Error('MESH_TEST_CLOCK_OFFSET_MS is no number of milliseconds');

const RealDate = Date;

class ShiftedDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset);
    else super(...args);
  }

  static now() {
    return RealDate.now() + offset;
  }
}

if (offset !== 0) globalThis.Date = ShiftedDate;
