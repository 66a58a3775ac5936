return {number = 7}
