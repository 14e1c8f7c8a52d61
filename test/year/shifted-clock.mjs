// Loaded before the command: its clock goes by MESH_CLOCK_SHIFT_MS milliseconds behind the machine's.
const real = Date.now.bind(Date);
const shift = Number(process.env.MESH_CLOCK_SHIFT_MS);
Date.now = () => real() - shift;
