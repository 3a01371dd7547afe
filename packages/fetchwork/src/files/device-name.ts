/** A name that no file or folder has on Windows. */
export const deviceName: RegExp = /^(?:con|prn|aux|nul|(?:com|lpt)\d)$/;
