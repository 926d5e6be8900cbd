print("versionsfs")
