// Ids of objects of the sample data, so that the examples of the OpenAPI description work in the demo. They are
// derived from the content of the sample, and so are the same in every store.

export const INDICATOR_OF_SAMPLE = '1574793d-629d-53da-872a-bf8eca156eef';
export const SAMPLE_ACTOR_ID = 'bef4c620-0787-42a8-a96d-b7eb6e85917c';
export const SAMPLE_CAMPAIGN_ID = '16efdab8-cb72-4a4a-b463-0a2a7e739d94';
