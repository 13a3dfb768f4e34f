import type {SessionObject} from '../../api/v1alpha1/index.ts';
import {Refusal} from '../refusal.ts';

/** A merge patch of single fields of `spec`; null removes a field. */
export type SpecPatch = Readonly<Record<string, string | null>>;

/** Put a session away; reversible. Undefined: it is archived already. */
export function archivePatch(session: SessionObject): SpecPatch | undefined {
  if (session.status?.phase === 'Closed' || session.spec.desired === 'Closed' || session.spec.desired === 'Cancelled') {
    throw new Refusal(
      'session_closed',
      `Session "${session.metadata.name}" is closed; a closed session cannot be archived.`,
    );
  }
  return session.spec.desired === 'Archived' ? undefined : {desired: 'Archived'};
}

/** Replace the notes; blank removes them. */
export function notesPatch(notes: string): SpecPatch {
  return {notes: notes.trim() === '' ? null : notes};
}

/** Replace the title; blank removes it. */
export function titlePatch(title: string): SpecPatch {
  return {title: title.trim() === '' ? null : title};
}
