import type {z} from 'zod';
import type {ReasonOf, TypeOf} from '../conditions.ts';
import type {KubeObject} from '../kube-object.ts';
import {Agent} from './agent.ts';
import {Question} from './question.ts';
import {Session} from './session.ts';
import {Turn} from './turn.ts';

export {Agent} from './agent.ts';
export {ANSWER_INVALID, ANSWER_PLACEHOLDER, QUESTION_TERMINAL, Question} from './question.ts';
export {Session, STOPPED_REASONS} from './session.ts';
export {Author, TURN_TERMINAL, Turn} from './turn.ts';

/** Every kind of the group, in the order of the reference pages. */
export const KINDS = [Agent, Session, Turn, Question] as const;

/** Objects as the API server stores them: defaults are filled in. */
export type AgentSpec = z.output<typeof Agent.spec>;
export type AgentStatus = z.output<typeof Agent.status>;
export interface AgentObject extends KubeObject {
  readonly spec: AgentSpec;
  readonly status?: AgentStatus | undefined;
}
export type AgentReason = ReasonOf<typeof Agent.conditions>;

export type SessionSpec = z.output<typeof Session.spec>;
export type SessionStatus = z.output<typeof Session.status>;
export interface SessionObject extends KubeObject {
  readonly spec: SessionSpec;
  readonly status?: SessionStatus | undefined;
}
export type SessionReason = ReasonOf<typeof Session.conditions>;
export type SessionConditionType = TypeOf<typeof Session.conditions>;
export type StoppedReason = NonNullable<SessionStatus['stoppedReason']>;
export type RunnerStatus = NonNullable<SessionStatus['runner']>;

export type TurnSpec = z.output<typeof Turn.spec>;
export type TurnStatus = z.output<typeof Turn.status>;
export interface TurnObject extends KubeObject {
  readonly spec: TurnSpec;
  readonly status?: TurnStatus | undefined;
}
export type TurnReason = ReasonOf<typeof Turn.conditions>;

export type QuestionSpec = z.output<typeof Question.spec>;
export type QuestionStatus = z.output<typeof Question.status>;
export interface QuestionObject extends KubeObject {
  readonly spec: QuestionSpec;
  readonly status?: QuestionStatus | undefined;
}
export type QuestionReason = ReasonOf<typeof Question.conditions>;
