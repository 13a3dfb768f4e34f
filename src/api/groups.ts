/**
 * Tool groups that an Agent may give its sessions. Each but `ask` also has a `_readonly` variant that leaves out the
 * tools that change something.
 */
export const TOOL_GROUPS = ['sessions', 'self_session', 'ask'] as const;

/** Suffix of the variants without writing tools. */
export const READONLY_SUFFIX = '_readonly';

/** Every name that `groups[]` of an Agent may hold. */
export const GROUP_NAMES: readonly string[] = TOOL_GROUPS.flatMap((g) =>
  g === 'ask' ? [g] : [g, `${g}${READONLY_SUFFIX}`],
);
