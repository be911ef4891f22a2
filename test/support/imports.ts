import { type Account } from "./account.ts"
import { businesses } from "./business.ts"
import { type Answer } from "./http.ts"

export interface Preview {
  readonly preview_id: string
  readonly source_format: string
  readonly record_count: number
  readonly field_mappings: ReadonlyArray<
    { readonly source_field: string; readonly target_field: string; readonly sample_value?: string }
  >
  readonly warnings: ReadonlyArray<{ readonly type: string; readonly message: string; readonly context?: string }>
  readonly expires_at: string
  readonly encoding: string
  readonly delimiter: string | null
  readonly unmapped_columns: ReadonlyArray<string>
  readonly suggested_mappings: Readonly<Record<string, string>>
  readonly source_program: string | null
  readonly summary: {
    readonly rows_total: number
    readonly importable: number
    readonly skipped: number
    readonly warnings_total: number
    readonly categories_to_create: ReadonlyArray<string>
    readonly existing_names: ReadonlyArray<string>
  }
}

export interface Part {
  readonly name?: string
  readonly filename?: string
  readonly type?: string
  readonly content: string | Uint8Array
}

const boundary = "----a-boundary-of-the-tests"

/** A body of multipart/form-data (RFC 7578). */
export const multipart = (parts: ReadonlyArray<Part>) => {
  const pieces = parts.flatMap(({ content, filename, name = "file", type = "application/octet-stream" }) => [
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"` +
        `${filename === undefined ? "" : `; filename="${filename}"`}\r\nContent-Type: ${type}\r\n\r\n`
    ),
    Buffer.from(content),
    Buffer.from("\r\n")
  ])
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` }
  }
}

export const importOf = (businessId: string) => `${businesses}/${businessId}/import`

/** Uploads a file for a preview. */
export const upload = (
  owner: Pick<Account, "request">,
  businessId: string,
  filename: string,
  content: string | Uint8Array
): Promise<Answer<{ readonly data: Preview }>> =>
  owner.request("POST", importOf(businessId), multipart([{ filename, content }]))

export const confirm = (owner: Pick<Account, "request">, businessId: string, previewId: string) =>
  owner.request<{ readonly data: { readonly created_items: number; readonly warnings_count: number } }>(
    "POST",
    `${importOf(businessId)}/${previewId}/confirm`
  )

export const revert = (owner: Pick<Account, "request">, businessId: string, importId: string) =>
  owner.request<{
    readonly data: {
      readonly removed_items: number
      readonly removed_categories: number
      readonly restored_profile: boolean
    }
  }>("POST", `${importOf(businessId)}/${importId}/revert`)
