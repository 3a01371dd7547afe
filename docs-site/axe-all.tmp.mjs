import { globSync } from "node:fs";
import { serve } from "@fetchwork/http/serve";
import { fileServer } from "@fetchwork/middleware/node";
import { chromium } from "playwright-core";
const built="/work/h44/docs-site/dist";
const server=await serve(fileServer(built),{port:0,hostname:"127.0.0.1",signals:false});
const origin=new URL(server.url).origin;
const browser=await chromium.launch({executablePath:"/usr/bin/chromium",args:["--no-sandbox","--disable-gpu","--disable-background-networking"]});
const pages=globSync("**/*.html",{cwd:built});console.log(pages.length,"pages");
let n=0;
for(const [width,colorScheme] of [[375,"dark"],[1280,"light"]]){
 const ctx=await browser.newContext({viewport:{width,height:800},colorScheme});
 for(const page of pages){const tab=await ctx.newPage();const bad=[];
  tab.on("pageerror",e=>bad.push("error "+e.message));tab.on("console",m=>{if(m.type()==="error")bad.push("console "+m.text())});
  tab.on("request",r=>{const u=new URL(r.url());if(u.origin!==origin&&u.protocol!=="data:")bad.push("foreign "+u.href)});
  try{await tab.goto(server.url+page,{waitUntil:"networkidle"});await tab.addScriptTag({path:"/work/h44/docs-site/node_modules/axe-core/axe.min.js"});
  const w=await tab.evaluate(()=>document.documentElement.scrollWidth);if(w!==width)bad.push("wide "+w);
  bad.push(...await tab.evaluate(async()=>(await axe.run()).violations.map(v=>v.id+" "+v.nodes.length+" "+JSON.stringify(v.nodes[0].target))));}catch(e){bad.push("fail "+e.message.slice(0,100))}
  await tab.close();n++;if(bad.length)console.log(width,colorScheme,page,bad.slice(0,4).join(" | "));}}
console.log("done",n);await browser.close();await server.close({gracePeriod:0});
