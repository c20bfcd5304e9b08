import { type TSchema, Type } from 'typebox';
import { changeMembers } from '../changes/parameters.ts';
import { ref } from '../http/schema.ts';

/** Returns the schema of changes of actors or campaigns. */
export function changesOf(noun: 'actor' | 'campaign', item: TSchema, id: string) {
  const [example] = (item as { examples?: { id: string; name: string }[] }).examples ?? [];
  const removed = { op: 'remove', id: '0b36ba6a-5c1f-5a1c-8b94-2f0a2c0f9d1e', name: 'Example' };
  return Type.Object(
    {
      changes: Type.Array(
        Type.Union([
          Type.Object({
            op: Type.Literal('upsert', { description: `The ${noun} is new, or has changed.` }),
            [noun]: ref(item),
          }),
          Type.Object({
            op: Type.Literal('remove', {
              description:
                'It is withdrawn, above the ceiling of the key, or does not match the filters any more.',
            }),
            id: Type.String({ format: 'uuid', description: 'Its id.' }),
            name: Type.String({ description: 'Its name.' }),
          }),
        ]),
        { description: 'In the order in which they were made, removals last.' },
      ),
      ...changeMembers,
    },
    {
      $id: id,
      description: `Changes of a list of ${noun}s.`,
      examples: [
        { changes: [{ op: 'upsert', [noun]: example }, removed], cursor: 'c0mSx9bU', hasMore: false },
      ],
    },
  );
}
