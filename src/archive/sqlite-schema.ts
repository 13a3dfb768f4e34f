import type {DatabaseSync} from 'node:sqlite';

// One step per version of the file; a step is never changed once it was released.
const STEPS: readonly string[] = [
  `CREATE TABLE session (
     id INTEGER PRIMARY KEY,
     namespace TEXT NOT NULL,
     uid TEXT NOT NULL,
     name TEXT NOT NULL,
     last_n INTEGER NOT NULL,
     last_hash TEXT NOT NULL,
     UNIQUE (namespace, uid)
   ) STRICT;
   CREATE TABLE source (
     session INTEGER NOT NULL REFERENCES session (id),
     source TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     acked INTEGER NOT NULL,
     PRIMARY KEY (session, source, epoch)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE record (
     session INTEGER NOT NULL REFERENCES session (id),
     n INTEGER NOT NULL,
     turn TEXT,
     hash TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (session, n)
   ) STRICT;
   CREATE INDEX record_turn ON record (session, turn, n) WHERE turn IS NOT NULL;`,
  // Milliseconds since the epoch at which the session was first seen to be gone.
  `ALTER TABLE session ADD COLUMN gone INTEGER;`,
];

/** Bring the file to the present version; throws when a newer program wrote it. */
export function migrate(db: DatabaseSync): void {
  const found = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
  if (found > STEPS.length) {
    throw new Error(`the archive file has version ${found}, this program knows ${STEPS.length}: install a newer one`);
  }
  for (const [index, step] of STEPS.entries()) {
    if (index < found) continue;
    db.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
