import { reservedNames } from "#src/servers/EnvironmentVariable.ts"

export interface PlatformValues {
  readonly port: number
  /** Null never stops when idle: the variable is left out. */
  readonly autoStopSeconds: number | null
  readonly healthPath: string
  readonly healthTimeoutSeconds: number
  readonly subdomain: string
  readonly authUrl: string
  readonly publicUrl: string
  readonly replayToken: string
}

/** The platform's own variables (contract: reserved names). */
const platformEnvironment = (values: PlatformValues): Readonly<Record<string, string>> => ({
  PORT: String(values.port),
  ...(values.autoStopSeconds === null ? {} : { AUTO_STOP_SECONDS: String(values.autoStopSeconds) }),
  HEALTH_CHECK_PATH: values.healthPath,
  HEALTH_CHECK_TIMEOUT_SECONDS: String(values.healthTimeoutSeconds),
  SERVER_SUBDOMAIN: values.subdomain,
  OAUTH_BASE_URL: values.authUrl,
  SVC_MCP_PUBLIC_URL: values.publicUrl,
  PLATFORM_MCP_REPLAY_TOKEN: values.replayToken
})

/** A customer's value of a reserved name is ignored, also when the platform sets none. */
export const machineEnvironment = (
  customer: Readonly<Record<string, string>>,
  values: PlatformValues
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(customer).filter(([name]) => !reservedNames.has(name))),
  ...platformEnvironment(values)
})
