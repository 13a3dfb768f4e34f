import type {SessionObject} from '../../api/v1alpha1/index.ts';

/** What to look for; all given parts must match. */
export interface SessionSearch {
  /** Words that must all occur in name, title, agent or notes; case does not count. */
  readonly query?: string | undefined;
  readonly phase?: string | undefined;
  readonly agent?: string | undefined;
}

/** Sessions that match, newest first. */
export function searchSessions(sessions: readonly SessionObject[], search: SessionSearch): SessionObject[] {
  const words = (search.query ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w !== '');
  return sessions
    .filter((s) => search.phase === undefined || (s.status?.phase ?? 'Pending') === search.phase)
    .filter((s) => search.agent === undefined || s.spec.agent === search.agent)
    .filter((s) => {
      const {title = '', notes = '', agent} = s.spec;
      const text = [s.metadata.name, title, agent, notes].join('\n').toLowerCase();
      return words.every((w) => text.includes(w));
    })
    .sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1));
}
