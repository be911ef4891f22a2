import { DeleteObjectCommand, GetObjectCommand, paginateListObjectsV2, PutObjectCommand } from "@aws-sdk/client-s3"
import { type FakeS3, s3Variables } from "./s3.ts"
import { type Swift, swiftVariables } from "./swift.ts"

/** What a test does behind the program's back in the bucket `files`, whichever store it is of. */
export interface Bucket {
  /** The settings of a platform that stores in it, or in another bucket of the store. */
  readonly variables: (at?: string) => Readonly<Record<string, string>>
  /** Text by key. */
  readonly objects: () => Promise<ReadonlyMap<string, string>>
  readonly put: (key: string, text: string) => Promise<unknown>
  readonly remove: (key: string) => Promise<unknown>
}

export const fakeBucket = ({ objects, url }: FakeS3): Bucket => ({
  variables: (at) => s3Variables(url, at),
  objects: () =>
    Promise.resolve(new Map([...objects].map(([name, bytes]) => [name.replace(/^files\//, ""), bytes.toString()]))),
  put: (key, text) => Promise.resolve(objects.set(`files/${key}`, Buffer.from(text))),
  remove: (key) => Promise.resolve(objects.delete(`files/${key}`))
})

export const swiftBucket = ({ client, url }: Swift): Bucket => {
  const at = (Key: string) => ({ Bucket: "files", Key })
  const objects = async () => {
    const found = new Map<string, string>()
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: "files" })) {
      for (const { Key = "" } of Contents) {
        const { Body } = await client.send(new GetObjectCommand(at(Key)))
        found.set(Key, await Body?.transformToString() ?? "")
      }
    }
    return found
  }
  return {
    variables: (to) => swiftVariables(url, to),
    objects,
    put: (key, Body) => client.send(new PutObjectCommand({ ...at(key), Body })),
    remove: (key) => client.send(new DeleteObjectCommand(at(key)))
  }
}
