// The documentation for language models, in the form of https://llmstxt.org.

/** Returns llms.txt: a title, a summary, and sections of links with descriptions; those that may be left out come last. */
export function llmsIndex(sections) {
  const [
    {
      pages: [overview],
    },
  ] = sections;
  const parts = [
    ...sections.filter(({ isOptional }) => !isOptional).map(({ label, pages }) => part(label, pages)),
    part(
      'Optional',
      sections.flatMap(({ isOptional, pages }) => (isOptional ? pages : [])),
    ),
  ];
  return `# ${overview.title}\n\n> ${overview.description}\n\nThe text of all pages but the optional ones is in [llms-full.txt](llms-full.txt).\n\n${parts.join('\n')}`;
}

function part(label, pages) {
  const links = pages.map(
    ({ route, title, description }) => `- [${title}](${route}.html)${description ? `: ${description}` : ''}`,
  );
  return `## ${label}\n\n${links.join('\n')}\n`;
}

/** Returns llms-full.txt: the Markdown of all pages that are not optional. */
export function llmsFull(sections) {
  return sections
    .flatMap(({ isOptional, pages }) => (isOptional ? [] : pages))
    .map(({ route, text }) => `<!-- ${route}.html -->\n\n${text}`)
    .join('\n');
}
