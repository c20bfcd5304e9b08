// The documentation for language models, in the form of https://llmstxt.org.

/** Returns llms.txt: a title, a summary, and sections of links with descriptions. */
export function llmsIndex(sections) {
  const [
    {
      pages: [overview],
    },
  ] = sections;
  const parts = sections.map(({ label, pages }) => {
    const links = pages.map(
      ({ route, title, description }) =>
        `- [${title}](${route}.html)${description ? `: ${description}` : ''}`,
    );
    return `## ${label}\n\n${links.join('\n')}\n`;
  });
  return `# ${overview.title}\n\n> ${overview.description}\n\nThe text of all pages is in [llms-full.txt](llms-full.txt).\n\n${parts.join('\n')}`;
}

/** Returns llms-full.txt: the Markdown of all pages but the decisions and the project's own. */
export function llmsFull(sections) {
  return sections
    .filter(({ label }) => !['Decisions', 'Project'].includes(label))
    .flatMap(({ pages }) => pages)
    .map(({ route, text }) => `<!-- ${route}.html -->\n\n${text}`)
    .join('\n');
}
