import { Type } from 'typebox';
import { nullable, tlp } from '../http/schema.ts';
import type { KillChainPhase, MispObject } from '../model/source-record.ts';

export const ObjectPart = nullable(
  Type.Object(
    {
      id: Type.String({ description: 'Its UUID.' }),
      name: Type.String({ description: 'Of its template, such as file.' }),
      relation: nullable(Type.String({ description: 'The part in it, such as filename.' })),
    },
    { description: 'The MISP object that it is part of.' },
  ),
);

export const KillChainPhases = Type.Array(
  Type.Object({
    chain: Type.String({ description: 'Such as lockheed-martin-cyber-kill-chain.' }),
    phase: Type.String({ description: 'Such as delivery.' }),
  }),
  { description: 'Steps of an attack.' },
);

export const Attribute = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Its id here.' }),
    type: Type.String({ description: 'MISP’s type, or note or stix-pattern.' }),
    value: Type.String({ description: 'The value or text.' }),
    name: nullable(Type.String({ description: 'The name.' })),
    description: nullable(Type.String({ description: 'The description or comment.' })),
    category: nullable(Type.String({ description: 'MISP’s category.' })),
    killChainPhases: KillChainPhases,
    object: ObjectPart,
    tlp: tlp(),
  },
  { description: 'A rule, hash, text or other statement of a source that is no indicator.' },
);

interface StoredAttribute {
  kill_chain_phases: KillChainPhase[] | null;
  object: MispObject | null;
}

/** Returns an attribute with what is shown of its MISP object. */
export function toAttribute<T extends StoredAttribute>({ object, kill_chain_phases, ...attribute }: T) {
  return { ...attribute, killChainPhases: kill_chain_phases ?? [], object: toObjectPart(object) };
}

export function toObjectPart(object: MispObject | null) {
  return object && { id: object.id, name: object.name, relation: object.relation ?? null };
}
