/**
 * Every name that `groups[]` of an Agent may hold: the tool groups that have tools. `_readonly` leaves out the tools that
 * change something.
 */
export const GROUP_NAMES: readonly string[] = ['sessions', 'sessions_readonly', 'self_session', 'ask'];
