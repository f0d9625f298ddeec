/** What we use of @novnc/novnc, which comes without types. */
declare module '@novnc/novnc' {
  // biome-ignore lint/style/noDefaultExport: it is theirs
  export default class RFB extends EventTarget {
    constructor(place: Element, url: string, options?: { readonly wsProtocols?: readonly string[] });
    scaleViewport: boolean;
    background: string;
    disconnect(): void;
    sendKey(keysym: number, code: string, isDown: boolean): void;
    focus(): void;
  }
}
declare module '*.css';
