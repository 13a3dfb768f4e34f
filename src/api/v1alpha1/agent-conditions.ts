import {defineConditions} from '../conditions.ts';

/** What an Agent may say of itself: condition types, and each reason with what to do next. New ones are added here. */
export const agentConditions = defineConditions({
  types: {
    Ready: {polarity: 'normal', means: 'A published revision can be run.'},
    Published: {polarity: 'normal', means: 'The present spec is the one that is published.'},
    Reconciling: {polarity: 'abnormal', means: 'The controller is working on the present spec.'},
    Stalled: {polarity: 'abnormal', means: 'Nothing goes on until somebody changes the spec.'},
  },
  reasons: {
    Published: {means: 'The spec is valid and serves as an immutable revision.', event: 'Normal'},
    Draft: {means: 'spec.draft is true: publish by setting it to false.', event: 'none'},
    LastGoodServes: {
      means: 'The present spec is not published; the last good revision goes on serving.',
      event: 'none',
    },
    NotPublished: {means: 'No revision was ever published.', event: 'none'},
    LaunchTooLarge: {means: 'Command, environment and files are too large in bytes: shorten them.', event: 'Warning'},
    InvalidBaseUrl: {
      means: 'model.baseUrl cannot be used: the message says why; correct it.',
      event: 'Warning',
    },
    UnknownGroup: {
      means: 'A tool group does not exist: choose one of those that the message lists.',
      event: 'Warning',
    },
  },
});
