import ipaddr from 'ipaddr.js';
import {
  ANY,
  type Expression,
  ONE,
  type Pattern,
  type Test,
} from '../../../src/sigma/conversion/expression.ts';
import type { SigmaField } from '../../../src/sigma/conversion/values.ts';
import type { LogEvent } from '../sigma-match.ts';

/** Returns whether an event has what an expression says. */
export function isTrue(expression: Expression<SigmaField>, event: LogEvent): boolean {
  switch (expression.kind) {
    case 'and':
      return expression.parts.every((part) => isTrue(part, event));
    case 'or':
      return expression.parts.some((part) => isTrue(part, event));
    case 'not':
      return !isTrue(expression.part, event);
    case 'constant':
      return expression.value;
    default: {
      const { field, test } = expression;
      const values = field === null ? Object.values(event) : [event[field]];
      return values.some((value) => value !== undefined && passes(test, String(value), event));
    }
  }
}

function passes(test: Test<SigmaField>, value: string, event: LogEvent): boolean {
  switch (test.kind) {
    case 'pattern':
      return regexOf(test.pattern, test.isCased ? 's' : 'is').test(value);
    case 'regex':
      return new RegExp(test.regex, test.flags).test(value);
    case 'network': {
      if (!ipaddr.isValid(value)) return false;
      const [address, range] = [ipaddr.parse(value), ipaddr.parseCIDR(test.network)];
      return address.kind() === range[0].kind() && address.match(range);
    }
    case 'exists':
      return value !== '';
    case 'number':
      return {
        '<': Number(value) < test.value,
        '<=': Number(value) <= test.value,
        '>': Number(value) > test.value,
        '>=': Number(value) >= test.value,
      }[test.operator];
    case 'sameAs':
      return test.other !== null && value.toLowerCase() === String(event[test.other]).toLowerCase();
  }
}

function regexOf(pattern: Pattern, flags: string): RegExp {
  const parts = pattern.map((part) =>
    part === ANY ? '.*' : part === ONE ? '.' : part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
  );
  return new RegExp(`^${parts.join('')}$`, flags);
}
