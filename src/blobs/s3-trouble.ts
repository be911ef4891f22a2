import { type S3Settings } from "#src/config/Settings.ts"
import { Option, Predicate } from "effect"

const key = "S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY"

type Sentence = (at: string, bucket: string, message: string) => string

/** By S3's code (Amazon S3 API Reference, "Error responses"), by the library's own name, or by Node's code. */
const sentences: Readonly<Record<string, Sentence>> = {
  NoSuchBucket: (at, bucket) => `there is no bucket ${bucket} at ${at}; create it, or name another in S3_BUCKET`,
  InvalidAccessKeyId: (at) => `${at} does not know the access key; correct ${key}`,
  SignatureDoesNotMatch: (at) => `${at} does not accept the access key, or its secret; correct ${key}`,
  ExpiredToken: (at) => `the access key's session has ended at ${at}; set a key that lasts`,
  AccessDenied: (at, bucket) =>
    `${at} refuses it to the access key; let it read, write, delete and list in the bucket ${bucket}`,
  CredentialsProviderError: () => `there is no access key; set ${key}, or give one where Amazon's programs look`,
  AuthorizationHeaderMalformed: (at, _, message) => `${at} is of another region; correct S3_REGION (${message})`,
  PermanentRedirect: (at, bucket) => `the bucket ${bucket} is elsewhere than ${at}; correct S3_REGION or S3_ENDPOINT`,
  RequestTimeTooSkewed: (at) => `the clocks of ${at} and of this machine differ by too much; set this machine's`,
  TimeoutError: (at) => `${at} does not answer in time`,
  EPROTO: (at) => `${at} does not speak TLS, or another version of it; correct S3_ENDPOINT`
}

const has = (text: unknown): text is string => typeof text === "string" && Object.hasOwn(sentences, text)

/** What is wrong with the store, and what the operator has to do; undefined for what is not the store's. */
export const s3Trouble = ({ bucket, endpoint, region }: S3Settings) => (error: unknown): string | undefined => {
  if (!Predicate.isRecord(error)) return undefined
  const at = Option.getOrElse(endpoint, () => `Amazon S3 in ${region}`)
  const { Code, code, message, name } = error
  const text = String(message)
  const known = [name, code].find(has)
  if (known !== undefined) return sentences[known]?.(at, bucket, text)
  // An answer of S3 always has a code.
  if (typeof Code === "string") return `${at} answers ${Code} (${text})`
  if (typeof code === "string") return `${at} can't be reached (${text})`
  const status = Predicate.isRecord(error["$metadata"]) ? error["$metadata"]["httpStatusCode"] : undefined
  if (typeof status !== "number") return undefined
  return `${at} answers ${status}, and not as S3 does${status < 500 ? "; correct S3_ENDPOINT" : ""}`
}
