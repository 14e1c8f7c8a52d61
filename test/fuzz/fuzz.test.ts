import { expect, test } from 'vitest';
import { fuzz } from './run.js';

test('what is wrong in any way is a value or a named error, and changes nothing that was accepted', async () => {
  const most = { files: 600, objects: 600, answers: 120, branches: 12 };
  const { cases, findings } = await fuzz({ seed: 20_261_202, seconds: 8, most });
  expect(findings).toEqual([]);
  expect(Object.keys(cases)).toEqual(['files', 'objects', 'answers', 'branches']);
});
