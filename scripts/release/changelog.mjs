// The changelog, in the format of Keep a Changelog 1.1.0: sections of versions with headings of the second level.

const UNRELEASED = '## Unreleased';

/** Returns the text of the section of a version, without its heading. @throws {Error} there is none, or it is empty */
export function sectionOf(changelog, version) {
  const section = findSection(changelog, version);
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  if (section === '') throw new Error(`CHANGELOG.md says nothing about ${version}.`);
  return section;
}

/** Returns the text of what is not released yet, without its heading; empty: nothing is. */
export function unreleasedOf(changelog) {
  return findSection(changelog, 'Unreleased') ?? '';
}

/**
 * Returns the changelog in which what was not released is that of a version.
 * @param date of the release, as YYYY-MM-DD
 * @throws {Error} nothing has changed, or the version has a section already
 */
export function withRelease(changelog, version, date) {
  if (findSection(changelog, version) !== undefined)
    throw new Error(`CHANGELOG.md has a section for ${version} already.`);
  if (unreleasedOf(changelog) === '') throw new Error(`CHANGELOG.md has nothing under "${UNRELEASED}".`);
  return changelog.replace(UNRELEASED, () => `${UNRELEASED}\n\n## ${version} - ${date}`);
}

function findSection(changelog, title) {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => line === `## ${title}` || line.startsWith(`## ${title} - `));
  if (start < 0) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '));
  return lines
    .slice(start + 1, length < 0 ? undefined : start + 1 + length)
    .join('\n')
    .trim();
}
