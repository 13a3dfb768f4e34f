import {z} from 'zod';

/**
 * How the runner starts the agent: computed by the controller from the published revision and the Session's model,
 * put into the runner's environment as JSON. It holds no secret: keys are mounted files.
 */
export const Launch = z.object({
  command: z.array(z.string()).min(1),
  args: z.array(z.string()),
  env: z.array(z.object({name: z.string(), value: z.string()})),
  files: z.array(z.object({path: z.string(), content: z.string()})),
  harness: z.object({
    authMethod: z.string().optional(),
    mode: z.string().optional(),
    noReload: z.boolean(),
    assumeMcpHttp: z.boolean(),
  }),
  instructions: z.string().optional(),
  model: z
    .object({
      name: z.string(),
      dialect: z.enum(['AnthropicMessages', 'OpenAIChat', 'OpenAIResponses', 'Gemini']),
      /** Absolute https URL; its origin is the only one that the key is sent to. */
      baseUrl: z.string(),
      /** File names in the mounted Secret and ConfigMap. */
      keyFile: z.string().optional(),
      caFile: z.string().optional(),
      /** What the author calls them, for messages. */
      keyFrom: z.object({secret: z.string(), key: z.string()}).optional(),
      caFrom: z.object({configMap: z.string(), key: z.string()}).optional(),
      proxy: z.enum(['Loopback', 'None']),
    })
    .optional(),
  /** Seconds. */
  limits: z.object({start: z.number(), turn: z.number()}),
});
export type Launch = z.infer<typeof Launch>;
