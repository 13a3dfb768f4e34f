import type {Tool} from '../tool.ts';
import askUser from './ask/ask-user.ts';
import actionSession from './sessions/action-session.ts';
import getSession from './sessions/get-session.ts';
import getTranscriptArchive from './sessions/get-transcript-archive.ts';
import quickSearchSessions from './sessions/quick-search-sessions.ts';
import startSession from './sessions/start-session.ts';

/** Every tool of the gateway: a new one is one file and one line here. */
export const TOOLS: readonly Tool[] = [
  askUser,
  actionSession,
  getSession,
  getTranscriptArchive,
  quickSearchSessions,
  startSession,
];
