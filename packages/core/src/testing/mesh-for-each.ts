import { afterEach, beforeEach } from 'vitest';
import { live } from './live.js';
import type { TestMachine, TestMesh } from './mesh-fixture.js';
import { testMesh } from './mesh-fixture.js';

/** A new mesh for each test of the file, and its removal. The machines go by their handles and are this test's own. */
export function meshForEach<Handle extends string>(
  ...handles: Handle[]
): Record<Handle, TestMachine> & { mesh: TestMesh } {
  let made: TestMesh | null = null;
  const mesh = (): TestMesh => {
    if (made === null) throw new Error('the mesh of a test is there only while one runs');
    return made;
  };
  beforeEach(async () => {
    made = await testMesh(...handles);
  });
  afterEach(async () => {
    const old = made;
    made = null;
    await old?.remove();
  });
  const machine = (handle: string): TestMachine => {
    const found = mesh().machines.find((one) => one.handle === handle);
    if (found === undefined) throw new Error(`no machine ${handle}`);
    return found;
  };
  const machines = handles.map((handle) => [handle, live(() => machine(handle))] as const);
  // One machine a handle, as the type says.
  return Object.assign(Object.fromEntries(machines) as Record<Handle, TestMachine>, { mesh: live(mesh) });
}
