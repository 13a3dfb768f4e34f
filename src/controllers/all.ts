import type {UidRange} from '../domain/agent/revision.ts';
import type {ControllerDefinition} from '../kube/controller-ports.ts';
import {agentController} from './agent.ts';
import {isolationController} from './isolation.ts';
import {questionController} from './question.ts';
import {type SessionParts, sessionController} from './session.ts';
import {sweepControllers} from './sweep.ts';
import {turnController} from './turn.ts';

/** What the controllers of one process share. */
export interface AllParts extends SessionParts {
  /** Unix uids of agents. */
  range: UidRange;
}

/** Every controller of the process; a new kind is added here. */
export function allControllers({range, ...session}: AllParts): ControllerDefinition[] {
  return [
    agentController({range, release: session.release}),
    sessionController(session),
    turnController(),
    questionController(),
    isolationController(session.release),
    ...sweepControllers(),
  ];
}
