import type { MaintainResult } from '@git-mesh/core';
import { counted } from '../counted.js';
import type { Render } from '../view.js';

const files = (packs: number, loose: number): string =>
  `${counted(packs, 'pack', 'packs')} and ${counted(loose, 'loose object', 'loose objects')}`;

const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;

export const maintainView: Render<MaintainResult> = (result) => {
  const after = files(result.packs_after, result.loose_after);
  const isSame =
    result.packs_before === result.packs_after &&
    result.loose_before === result.loose_after &&
    result.bytes_before === result.bytes_after;
  const text = isSame
    ? `Nothing to do: ${counted(result.objects, 'object', 'objects')} in ${after}, ${kib(result.bytes_after)}.`
    : `${files(result.packs_before, result.loose_before)} (${kib(result.bytes_before)}) became ${after} (${kib(result.bytes_after)}). No object was dropped.`;
  return { text, kind: 'confirmation' };
};
