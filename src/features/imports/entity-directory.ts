import type { EntityKindRules, EntityState } from './entity-kinds.ts';

/** Who is who: by external id, then by ATT&CK id, then by a name that one alone bears. */
export function newDirectory(rules: EntityKindRules, stored: readonly EntityState[]) {
  const byId = new Map(stored.map((state) => [state.id, state]));
  const byExternalId = new Map<string, string>();
  const byName = new Map<string, Set<string>>();
  const byAttackId = new Map<string, string>();
  const index = (state: EntityState) => {
    const attackId = rules.attackId(state.columns);
    if (attackId) byAttackId.set(attackId, state.id);
    for (const name of rules.names(state.columns)) {
      const key = name.toLowerCase();
      byName.set(key, (byName.get(key) ?? new Set()).add(state.id));
    }
  };
  stored.forEach(index);

  /** Two ATT&CK ids are two objects, whatever both are called. */
  const namesake = (said: EntityState): EntityState | undefined => {
    const attackId = rules.attackId(said.columns);
    const [name, ...aliases] = rules.names(said.columns);
    if (name === undefined) return undefined;
    for (const names of [[name], aliases]) {
      const ids = new Set(names.flatMap((n) => [...(byName.get(n.toLowerCase()) ?? [])]));
      const fitting = [...ids]
        .flatMap((id) => byId.get(id) ?? [])
        .filter((state) => {
          const other = rules.attackId(state.columns);
          return !attackId || !other || attackId === other;
        });
      if (fitting.length === 1) return fitting[0];
      if (fitting.length > 1) return undefined;
    }
    return undefined;
  };
  return {
    find(externalIds: readonly string[], said: EntityState): EntityState | undefined {
      const known = externalIds
        .map((externalId) => byExternalId.get(externalId))
        .find((id) => id !== undefined);
      if (known !== undefined) return byId.get(known);
      const sameAttackId = byAttackId.get(rules.attackId(said.columns) ?? '') ?? '';
      return byId.get(sameAttackId) ?? byId.get(said.id) ?? namesake(said);
    },
    knows: (externalId: string, id: string) => byExternalId.get(externalId) === id,
    alias: (externalId: string, id: string) => void byExternalId.set(externalId, id),
    put(state: EntityState) {
      byId.set(state.id, state);
      index(state);
    },
  };
}
