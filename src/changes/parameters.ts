import { Type } from 'typebox';

const MAX_WAIT_SECONDS = 30;

/** The parameters of every change feed. */
export const changeParameters = {
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description:
        'Of the last response, or X-Change-Cursor of a list, export or saved feed. It holds the filters, which may be left ' +
        'out with it. Without one, everything that matches comes first.',
    }),
  ),
  wait: Type.Integer({
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    default: 0,
    description: 'If there are no changes, the response waits for them for up to so many seconds.',
    examples: [0],
  }),
};

/** The members of every response of a change feed besides the changes. */
export const changeMembers = {
  cursor: Type.String({
    description: 'For the next request. It is the one of the request if nothing has changed.',
  }),
  hasMore: Type.Boolean({ description: 'More changes follow at once.' }),
};
