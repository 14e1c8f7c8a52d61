const devices = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$|clock\$)$/i;

/** True for names that Windows takes for a device, with or without an extension: `nul`, `COM1`, `nul.txt`. */
export function isDeviceName(name: string): boolean {
  const stem = name.split('.', 1)[0] ?? '';
  return devices.test(stem.trimEnd());
}
