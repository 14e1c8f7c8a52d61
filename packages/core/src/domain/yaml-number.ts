import { MeshError } from '../errors.js';
import { visibleText } from './visible-text.js';

/**
 * `value` where it is exactly what `source` says. Numbers are compared as decimals: `1.10`, `1e2` and what
 * JSON.stringify writes for any double pass; `9007199254740993`, `1e999` and `.inf` do not.
 * @throws MeshError `invalid_argument`
 */
export function numberOf(value: number, source: string | undefined): number {
  if (Number.isFinite(value) && source !== undefined) {
    if (/^0[xo]/.test(source)) {
      if (BigInt(source) === BigInt(value)) return value;
    } else if (decimal(source) === decimal(String(value))) {
      return value;
    }
  }
  throw new MeshError(
    'invalid_argument',
    `the number ${visibleText(source ?? String(value), { maxLength: 40 })} cannot be kept exactly; write it as a string`,
  );
}

/** Sign, significant digits and exponent in one form for equal decimals: `-12e3`. Zero has none of them. */
function decimal(text: string): string {
  const match = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i.exec(text);
  if (match === null) return `?${text}`;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}
