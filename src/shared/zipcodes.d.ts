declare module "zipcodes" {
  interface ZipCode {
    readonly zip: string
    readonly city: string
    readonly state: string
    readonly latitude: number
    readonly longitude: number
  }
  const zipcodes: { readonly lookup: (zip: string) => ZipCode | undefined }
  export default zipcodes
}

declare module "zipcodes/lib/states.js" {
  const states: { readonly full: Readonly<Record<string, string>> }
  export default states
}
