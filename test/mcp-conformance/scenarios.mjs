/** The revisions of the protocol that are run. */
export const REVISIONS = ['2025-06-18', '2025-11-25', '2026-07-28'];

/** The scenarios that concern a product, and what they check. */
export const REQUIRED = {
  'server-initialize': 'all that a server answers to a client that connects',
  'server-session-lifecycle': 'no session is issued, so none can be misused',
  'server-stateless': 'requests without sessions, errors and their status',
  ping: 'liveness',
  'tools-list': 'the tools and their schemas',
  'resources-list': 'the resources',
  'prompts-list': 'the prompts',
  'completion-complete': 'completions',
  'sep-2164-resource-not-found': 'the error for a resource that does not exist',
  'dns-rebinding-protection': 'requests of other sites',
  caching: 'how long a client may keep lists',
  'http-header-validation': 'headers that contradict the body',
  'server-sse-polling': 'no streams are offered',
  'server-sse-multiple-streams': 'several requests at once',
  'input-required-result-unsupported-methods': 'methods that ask for nothing',
  'input-required-result-missing-input-response': 'answers to questions that were not asked',
  'input-required-result-ignore-extra-params': 'parameters that mean nothing here',
  'input-required-result-validate-input': 'answers that are not valid',
};

/** Checks of a required scenario that call a tool of the suite's own example server. */
export const EXAMPLE_CHECKS = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
];

const EXAMPLE = 'calls a tool, resource or prompt of the suite’s own example server';
const NO_QUESTIONS = 'a server that asks the client something: Tipline asks nothing';

/** The scenarios that do not concern a product, and why. */
export const LEFT_OUT = {
  'logging-set-level': 'Tipline sends no log messages to clients',
  'tools-call-with-logging': 'Tipline sends no log messages to clients',
  'tools-call-with-progress': `${EXAMPLE}; answers take less than a second, without progress`,
  'tools-call-simple-text': EXAMPLE,
  'tools-call-image': EXAMPLE,
  'tools-call-audio': EXAMPLE,
  'tools-call-embedded-resource': EXAMPLE,
  'tools-call-mixed-content': EXAMPLE,
  'tools-call-error': EXAMPLE,
  'json-schema-2020-12': EXAMPLE,
  'http-custom-header-server-validation': `${EXAMPLE}; no argument of Tipline’s tools is sent as a header`,
  'resources-read-text': EXAMPLE,
  'resources-read-binary': EXAMPLE,
  'resources-templates-read': EXAMPLE,
  'resources-subscribe': 'Tipline announces no changes: whats_new has them',
  'resources-unsubscribe': 'Tipline announces no changes: whats_new has them',
  'prompts-get-simple': EXAMPLE,
  'prompts-get-with-args': EXAMPLE,
  'prompts-get-embedded-resource': EXAMPLE,
  'prompts-get-with-image': EXAMPLE,
  'tools-call-sampling': NO_QUESTIONS,
  'tools-call-elicitation': NO_QUESTIONS,
  'elicitation-sep1034-defaults': NO_QUESTIONS,
  'elicitation-sep1330-enums': NO_QUESTIONS,
  'input-required-result-basic-elicitation': NO_QUESTIONS,
  'input-required-result-basic-sampling': NO_QUESTIONS,
  'input-required-result-basic-list-roots': NO_QUESTIONS,
  'input-required-result-request-state': NO_QUESTIONS,
  'input-required-result-multiple-input-requests': NO_QUESTIONS,
  'input-required-result-multi-round': NO_QUESTIONS,
  'input-required-result-non-tool-request': NO_QUESTIONS,
  'input-required-result-result-type': NO_QUESTIONS,
  'input-required-result-tampered-state': NO_QUESTIONS,
  'input-required-result-capability-check': NO_QUESTIONS,
};
