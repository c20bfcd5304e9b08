import { describe, expect, it } from 'vitest';
import { sectionOf, unreleasedOf, withRelease } from '../../scripts/release/changelog.mjs';

const CHANGELOG = `# Changelog

## Unreleased

### Added

- Costs $& and $1.

## 1.1.0 - 2026-02-03

### Fixed

- A thing.

## 1.1.0-rc.1 - 2026-01-02

## 1.0.0 - 2026-01-01

- The first release.
`;

describe('the changelog', () => {
  it('has a section for each version', () => {
    expect(unreleasedOf(CHANGELOG)).toBe('### Added\n\n- Costs $& and $1.');
    expect(sectionOf(CHANGELOG, '1.1.0')).toBe('### Fixed\n\n- A thing.');
    expect(sectionOf(CHANGELOG, '1.0.0')).toBe('- The first release.');
  });

  it('must say something about a version', () => {
    expect(() => sectionOf(CHANGELOG, '1.2.0')).toThrow('CHANGELOG.md has no section for 1.2.0.');
    expect(() => sectionOf(CHANGELOG, '1.1.0-rc.1')).toThrow('CHANGELOG.md says nothing about 1.1.0-rc.1.');
  });

  it('gets a section with what was not released, under the heading that stays', () => {
    const released = withRelease(CHANGELOG, '1.2.0', '2026-03-04');
    expect(unreleasedOf(released)).toBe('');
    expect(sectionOf(released, '1.2.0')).toBe(unreleasedOf(CHANGELOG));
    expect(released.replace('\n\n## 1.2.0 - 2026-03-04', '')).toBe(CHANGELOG);
  });

  it('is not released twice, and not without changes', () => {
    expect(() => withRelease(CHANGELOG, '1.1.0', '2026-03-04')).toThrow('has a section for 1.1.0 already');
    const released = withRelease(CHANGELOG, '1.2.0', '2026-03-04');
    expect(() => withRelease(released, '1.3.0', '2026-03-05')).toThrow('has nothing under "## Unreleased"');
  });
});
