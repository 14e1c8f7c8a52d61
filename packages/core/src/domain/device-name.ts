// What of a name stands before its first dot, without spaces at the end, is the device's.
const device = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$|clock\$)\s*(?:\.|$)/i;

/** True for names that Windows takes for a device, with or without an extension: `nul`, `COM1`, `nul.txt`. */
export function isDeviceName(name: string): boolean {
  return device.test(name);
}
