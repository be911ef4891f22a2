import { fileInMachine, type MachineSpec } from "#src/machines/Machines.ts"
import { readyConfigName, reservedNames, valueBytes } from "#src/servers/EnvironmentVariable.ts"

export interface PlatformValues {
  readonly port: number
  /** Null means never stop when idle: the variable is left out. */
  readonly autoStopSeconds: number | null
  readonly healthPath: string
  readonly healthTimeoutSeconds: number
  readonly subdomain: string
  readonly authUrl: string
  readonly publicUrl: string
  readonly replayToken: string
}

/** The platform's own variables (contract: Platform resources, reserved environment names). */
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

const readyConfigFile = "ready-config.json"
const readyConfigFileName = `${readyConfigName}_FILE`

/** A ready configuration that is too long for a variable goes into a file, and a variable has the file's path. */
const readyConfig = (text: string | undefined): Required<Pick<MachineSpec, "env" | "files">> =>
  text === undefined
    ? { env: {}, files: [] }
    : Buffer.byteLength(text) <= valueBytes
    ? { env: { [readyConfigName]: text }, files: [] }
    : {
      env: { [readyConfigFileName]: fileInMachine(readyConfigFile) },
      files: [{ name: readyConfigFile, content: text }]
    }

/**
 * The environment of a machine: variables, and files for values that are too long for one. Customer values with a
 * reserved name are ignored, even where the platform sets none; so is the customer's ready configuration when a
 * business is linked to the server: `ofBusiness` is that business's.
 */
export const machineEnvironment = (
  customer: Readonly<Record<string, string>>,
  values: PlatformValues,
  ofBusiness?: string
): Required<Pick<MachineSpec, "env" | "files">> => {
  const { [readyConfigName]: config, ...others } = customer
  const { env, files } = readyConfig(ofBusiness ?? config)
  const ignored = (name: string) =>
    reservedNames.has(name) || (name === readyConfigFileName && ofBusiness !== undefined)
  const allowed = Object.entries(others).filter(([name]) => !ignored(name))
  return { env: { ...Object.fromEntries(allowed), ...env, ...platformEnvironment(values) }, files }
}
