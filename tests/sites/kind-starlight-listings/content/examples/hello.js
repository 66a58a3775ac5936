// hello

console.log("```");
